# make -f parts.mk -j 8: the parts that are not there yet, 8 at a time, and the whole of them.
parts := 64
names := $(foreach k,$(shell seq $(parts)),rows-$(k)-of-$(parts).npy)

rows.npy: $(names)
	garner join 'rows-*-of-$(parts).npy' -o $@

$(names): rows-%-of-$(parts).npy: table.npy ids.npy
	garner gather table.npy ids.npy -o $@ --part $*/$(parts)
