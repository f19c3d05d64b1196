echo none
