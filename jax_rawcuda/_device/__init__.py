"""The device that is asked, never used: driver, capabilities, versions."""
