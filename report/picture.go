package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/carillon-scheduler/carillon/model"
)

// Measures of the picture in a mail, in pixels; it is shown at half its size.
const (
	picWidth   = 1104
	picHeight  = 330
	picLeft    = 90
	picTop     = 16
	picMiddle  = 190
	picLost    = 214
	picBottom  = 284
	picFont    = 20
	picSmallst = 4 // what exists is visible
)

// Picture draws the days of a report as the page does: what succeeded or is open above,
// what failed or was not sent below, on a scale of its own. It is a PNG: mail programs
// show no SVG.
func Picture(list []*model.Counter) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, picWidth, picHeight))
	fill := func(x0, y0, x1, y1 int, c color.Color) {
		draw.Draw(img, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	fill(0, 0, picWidth, picHeight, color.White)
	var (
		grey   = color.RGBA{0x5f, 0x6b, 0x78, 0xff}
		line   = color.RGBA{0xdd, 0xe2, 0xe8, 0xff}
		good   = color.RGBA{0x2f, 0x9e, 0x44, 0xff}
		open   = color.RGBA{0xf0, 0x8c, 0x00, 0xff}
		bad    = color.RGBA{0xe0, 0x31, 0x31, 0xff}
		missed = color.RGBA{0x86, 0x8e, 0x96, 0xff}
	)
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: picFont, DPI: 72})
	if err != nil {
		return nil, err
	}
	write := func(text string, x, y int, toLeft float64) {
		d := font.Drawer{Dst: img, Src: image.NewUniform(grey), Face: face}
		d.Dot = fixed.P(x-int(toLeft*float64(d.MeasureString(text).Ceil())), y)
		d.DrawString(text)
	}
	most, worst := int64(1), int64(1)
	for _, c := range list {
		most, worst = max(most, c.Succeeded+c.Open()), max(worst, c.Failed+c.Missed)
	}
	for _, y := range []int{picTop, picMiddle, picBottom} {
		fill(picLeft, y, picWidth, y+1, line)
	}
	write(short(most), picLeft-12, picTop+picFont/2, 1)
	write("0", picLeft-12, picMiddle+picFont/3, 1)
	write(short(worst), picLeft-12, picLost+picFont/2, 1)
	pitch := float64(picWidth-picLeft) / float64(max(1, len(list)))
	width := int(min(60, pitch*0.72))
	every := (len(list) + 7) / 8
	for i, c := range list {
		x := picLeft + int(float64(i)*pitch+(pitch-float64(width))/2)
		stack := func(bottom, height int, n, limit int64, shade color.Color) int {
			if n <= 0 {
				return bottom
			}
			h := max(picSmallst, int(n*int64(height)/limit))
			fill(x, bottom-h, x+width, bottom, shade)
			return bottom - h
		}
		y := stack(picMiddle, picMiddle-picTop, c.Succeeded, most, good)
		stack(y, picMiddle-picTop, c.Open(), most, open)
		y = stack(picBottom, picBottom-picLost, c.Failed, worst, bad)
		stack(y, picBottom-picLost, c.Missed, worst, missed)
		if (len(list)-1-i)%every == 0 && len(c.Start) == 10 {
			write(c.Start[5:], min(x+width/2, picWidth-28), picBottom+30, 0.5)
		}
	}
	var out bytes.Buffer
	err = png.Encode(&out, img)
	return out.Bytes(), err
}

// short is a number that has room at a scale.
func short(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%d M", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}
