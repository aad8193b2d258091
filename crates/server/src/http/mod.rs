//! HTTP: the AIMEM profile, and the store protocol of OMS 28.4.
