// Package chart draws charts as SVG, by gonum/plot: curves with error bars, bars, heat maps.
//
// Pictures are narrow, so that their text can still be read at the width of a phone. Series differ in
// color (those of M. Okabe and K. Ito, which can be told apart without seeing red or green), in marker and in
// dashes.
// Colors are CSS variables: a page that defines those of [Style] draws all pictures in them, and a picture in
// a file of its own brings them along, light or dark as its reader likes.
package chart
