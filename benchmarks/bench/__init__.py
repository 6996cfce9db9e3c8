"""Speed, memory and accuracy compared with scikit-learn and other libraries."""
