//! Has Cargo embed the pages of `web/` again when they are built again.

#![expect(clippy::print_stdout, reason = "a build script talks to Cargo through its output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../web/dist");
}
