"""Speed, memory and accuracy beside scikit-learn and other libraries."""
