// SPDX-License-Identifier: MIT
use fairsem_sys::*;
use std::mem::{align_of, size_of};

#[test]
fn the_structs_have_the_sizes_that_never_change() {
    assert_eq!(size_of::<fairsem_attr_t>(), 64);
    assert_eq!(size_of::<fairsem_wait_t>(), 72);
    assert_eq!(size_of::<fairsem_request_t>(), 16);
    assert_eq!(size_of::<fairsem_token_t>(), 128);
    assert_eq!(align_of::<fairsem_token_t>(), 16);
}
