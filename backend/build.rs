//! Has Cargo embed the pages of `web/` again when they are built again.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../web/dist");
}
