echo "$name $nearest $first $all"
echo "$nearest $first $all" | wc -c
