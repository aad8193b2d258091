//! Tells the linker that the symbols of Node-API are those of the program that loads the module.

fn main() {
    napi_build::setup();
}
