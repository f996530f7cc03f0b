"""The vault: secrets, values of a team, structured entries and their attachments, all of them sealed."""
