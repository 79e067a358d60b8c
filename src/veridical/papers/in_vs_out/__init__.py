"""IN versus OUT: Refaeilzadeh, Tang & Liu (2007)."""
