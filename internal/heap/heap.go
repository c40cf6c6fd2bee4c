// Package heap is a priority queue of values.
package heap

import "iter"

// A Heap holds values. The first in its order can be read and removed. Make one with New.
type Heap[T any] struct {
	before func(a, b *T) bool
	values []T
}

// New returns an empty heap ordered by before.
func New[T any](before func(a, b *T) bool) Heap[T] { return Heap[T]{before: before} }

// Len returns how many values there are.
func (h *Heap[T]) Len() int { return len(h.values) }

// First returns the first value. After changing it, call Fix.
func (h *Heap[T]) First() *T { return &h.values[0] }

// All yields the values, unsorted. They may be changed if their order stays.
func (h *Heap[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range h.values {
			if !yield(&h.values[i]) {
				return
			}
		}
	}
}

// Push adds a value.
func (h *Heap[T]) Push(x T) {
	h.values = append(h.values, x)
	for i := len(h.values) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.before(&h.values[i], &h.values[parent]) {
			return
		}
		h.values[i], h.values[parent] = h.values[parent], h.values[i]
		i = parent
	}
}

// Pop removes the first value.
func (h *Heap[T]) Pop() T {
	var zero T
	first, last := h.values[0], len(h.values)-1
	h.values[0], h.values[last] = h.values[last], zero
	h.values = h.values[:last]
	h.Fix()
	return first
}

// Fix restores the order after a change to the first value.
func (h *Heap[T]) Fix() {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.values); child++ {
			if h.before(&h.values[child], &h.values[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.values[i], h.values[least] = h.values[least], h.values[i]
		i = least
	}
}
