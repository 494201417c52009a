"""A synchronization: plan, steps, the gates before publishing, publication, and machines that share its batches."""
