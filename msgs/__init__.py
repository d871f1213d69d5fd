"""What nodes say to each other: one declaration per message type, from which everything else is derived."""
