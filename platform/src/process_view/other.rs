//! Systems that do not report this.

pub(super) const fn environment(_pid: u32) -> Option<Vec<(String, String)>> {
    None
}

pub(super) const fn descriptor_limit(_pid: u32) -> Option<u64> {
    None
}
