# Prints the word of ARGV[1] that may have been meant by word, or nothing: the least letters must be put in,
# taken out or changed, and no more than two or a third of them. Upper and lower case are alike.
BEGIN {
	word = toupper(word)
	known = split(ARGV[1], words, " ")
	least = (length(word) >= 9 ? int(length(word) / 3) : 2) + 1
	for (k = 1; k <= known; k++) {
		d = distance(word, words[k])
		if (length(words[k]) > 2 && index(word, words[k]) == 1)
			d = 1 # ALGORITHM for ALGO
		if (d < least && d < length(words[k])) {
			least = d
			nearest = words[k]
		}
	}
	print nearest
}

function distance(a, b,    i, j, before, change, row) {
	for (j = 0; j <= length(b); j++)
		row[j] = j
	for (i = 1; i <= length(a); i++) {
		before = row[0]
		row[0] = i
		for (j = 1; j <= length(b); j++) {
			change = before + (substr(a, i, 1) != substr(b, j, 1))
			before = row[j]
			row[j] = least_of(change, row[j] + 1, row[j - 1] + 1)
		}
	}
	return row[length(b)]
}

function least_of(x, y, z) {
	if (y < x) x = y
	return z < x ? z : x
}
