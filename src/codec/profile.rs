//! The device profiles and their limits (OMS 18, 4.10).

/// The device profile whose limits bytes are held to (OMS 18, 4.10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// Servers, desktops, gateways: 1 MiB, 32 levels.
    #[default]
    Extended,
    /// Single-board computers, phones: 32 KiB, 16 levels.
    Standard,
    /// Microcontrollers: 512 bytes, 8 levels.
    Lightweight,
}

impl Profile {
    /// Returns the largest blob in bytes.
    pub const fn blob_len_max(self) -> usize {
        match self {
            Self::Extended => 1024 * 1024,
            Self::Standard => 32 * 1024,
            Self::Lightweight => 512,
        }
    }

    /// Returns the deepest nesting; the payload map is level 1 (ruling F17).
    pub const fn depth_max(self) -> usize {
        match self {
            Self::Extended => 32,
            Self::Standard => 16,
            Self::Lightweight => 8,
        }
    }
}
