"""The pages and files of a company: values, history, figures, statements as filed, comparison."""
