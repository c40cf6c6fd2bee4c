// Package chart draws charts as SVG, by gonum/plot: curves with error bars, bars, heat maps.
//
// Pictures are narrow, so that their text can still be read at the width of a phone. Series differ in
// color (those of M. Okabe and K. Ito, which can be told apart without seeing red or green), in marker and in
// dashes.
// Colors are CSS variables: a page that defines those of [Style] draws all pictures in them. A picture in a
// file of its own has them as attributes, which every program knows, and in browsers dark ones for who likes
// these.
package chart
