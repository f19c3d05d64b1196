echo "$SOURCE -> $TARGET: $store_port; all of $SOURCES -> $TARGETS: $orders_store_port $stock_store_port"
