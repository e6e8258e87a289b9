"""nbgrader, for everybody on the hub: which course, and by which way notebooks come and go."""

import os

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "seq2seq"
if "COURSE_NGSHARE" in os.environ:
    from ngshare_exchange import configureExchange

    configureExchange(c, os.environ["COURSE_NGSHARE"])
else:
    c.Exchange.root = os.environ["COURSE_EXCHANGE"]
