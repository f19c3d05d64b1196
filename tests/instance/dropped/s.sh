echo ${#pw} ${#url}
