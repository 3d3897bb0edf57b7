#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corpus.py - sequences in hexadecimal, one in a line, and in files of bytes, as libFuzzer has them.

  corpus.py unpack CORPUS DIRECTORY     a file for each line
  corpus.py pack FILE...                a line for each file, to the standard output

Both fail if there is no sequence.
"""
import sys

sequences = 0
if sys.argv[1] == 'unpack':
    with open(sys.argv[2], encoding='ascii') as corpus:
        for line in corpus:
            if line[0] not in '#\n':
                with open(f'{sys.argv[3]}/{sequences:04}', 'wb') as file:
                    file.write(bytes.fromhex(line))
                sequences += 1
else:
    for name in sys.argv[2:]:
        with open(name, 'rb') as file:
            print(file.read().hex())
            sequences += 1
if sequences == 0:
    sys.exit('corpus.py: no sequence')
