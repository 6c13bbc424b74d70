"""The check before an answer is sent: what is asked, what is answered, and everything within the time allowed."""
