"""What calls changed, and how it is put back."""
