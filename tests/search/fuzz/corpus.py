#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corpus.py - converts sequences: from lines in hexadecimal to files of bytes, as libFuzzer uses them, and back.

  corpus.py unpack CORPUS DIRECTORY     writes a file for each line
  corpus.py pack FILE...                prints a line for each file

Both commands fail if there is no sequence.
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
