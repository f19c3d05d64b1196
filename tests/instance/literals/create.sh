echo "$of_type $sum $later $own $labels $price $seen"
