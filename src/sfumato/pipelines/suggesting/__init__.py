"""What a suggested plan is made by: a first look at the rows, who is a person, what columns tell, what they cost."""
