"""A synchronization: its plan and steps, the gates before publishing, publication, and machines that share its
batches."""
