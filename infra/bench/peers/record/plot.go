package record

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-analyze/charts"
)

const (
	plotWidth, plotHeight = 900, 460
	lineWidth             = 2.5
	fontSize              = 12.0
	labelCount            = 7
	// margin is room for names in fonts that are wider than the one that is measured.
	margin = "\u00a0\u00a0\u00a0"
	// mostWrites and mostReads cut off lines, since small values could not be told apart
	// beside the largest.
	mostWrites, mostReads = 60, 240
)

// plot is a chart in a file of its own. Its background is white, so that dark pages show it
// well too.
type plot struct {
	file string
	draw func(*charts.Painter) error
}

func (p plot) svg() ([]byte, error) {
	painter := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: plotWidth, Height: plotHeight})
	if err := p.draw(painter); err != nil {
		return nil, err
	}
	svg, err := painter.Bytes()
	return append(svg, '\n'), err
}

func (r Record) plots() []plot {
	return []plot{{"peers-writes.svg", r.drawWrites}, {"peers-loads.svg", r.drawLoads}, {"peers-stream.svg", r.drawStream}}
}

// drawWrites draws what a turn needs, on average over a step of the curve. A line ends where
// its store fails.
func (r Record) drawWrites(p *charts.Painter) error {
	longest := slices.Max(r.Plan.Turns)
	var labels []string
	for turns := r.Plan.Step; turns <= longest; turns += r.Plan.Step {
		labels = append(labels, strconv.Itoa(turns))
	}
	values := make([][]float64, len(r.Peers))
	for i, peer := range r.Peers {
		before := 0.0
		for n := range labels {
			if n >= len(peer.Curve) {
				values[i] = append(values[i], charts.GetNullValue())
				continue
			}
			written := peer.Curve[n].Usage.Writes
			values[i] = append(values[i], upTo(mostWrites, (written-before)/float64(r.Plan.Step)))
			before = written
		}
	}
	return r.lines(p, "Write units a turn, by the number of turns in the thread", mostWrites, labels, values)
}

// drawLoads draws what a whole thread needs.
func (r Record) drawLoads(p *charts.Painter) error {
	var labels []string
	values := make([][]float64, len(r.Peers))
	for _, turns := range r.Plan.Turns {
		labels = append(labels, strconv.Itoa(turns))
		for i, peer := range r.Peers {
			value := charts.GetNullValue()
			if u, ok := peer.LoadAt(turns); ok {
				value = upTo(mostReads, u.Reads)
			}
			values[i] = append(values[i], value)
		}
	}
	return r.lines(p, "Read units of loading a thread, by its turns", mostReads, labels, values)
}

func upTo(most, value float64) float64 {
	if value > most {
		return charts.GetNullValue()
	}
	return value
}

func (r Record) lines(p *charts.Painter, text string, most float64, labels []string, values [][]float64) error {
	opt := charts.NewLineChartOptionWithData(values)
	opt.Title = title(fmt.Sprintf("%s (above %v: see the table)", text, most))
	opt.Legend = charts.LegendOption{
		SeriesNames: r.shorts(), FontStyle: font(), Offset: charts.OffsetStr{Top: "34", Left: "left"},
	}
	opt.XAxis.Labels, opt.XAxis.LabelFontStyle = labels, font()
	opt.YAxis = []charts.YAxisOption{{Min: charts.Ptr(0.0), Max: charts.Ptr(most), LabelCount: labelCount, LabelFontStyle: font()}}
	opt.Symbol = charts.Symbol{Shape: charts.SymbolNone}
	if len(labels) < 2*r.Plan.Step {
		opt.Symbol = charts.Symbol{Shape: charts.SymbolDot}
	}
	opt.LineStrokeWidth = lineWidth
	return p.LineChart(opt)
}

// drawStream draws the write units of a streamed answer as bars.
func (r Record) drawStream(p *charts.Painter) error {
	var values []float64
	for _, peer := range r.Peers {
		value := charts.GetNullValue()
		if peer.Stream.Error == "" {
			value = peer.Stream.Usage.Writes
		}
		values = append(values, value)
	}
	slices.Reverse(values) // the chart counts from below
	labels := r.shorts()
	slices.Reverse(labels)
	opt := charts.NewBarChartOptionWithData([][]float64{values})
	opt.Horizontal = true
	opt.Title = title(fmt.Sprintf("Write units of a streamed answer of %s tokens", number(float64(r.Plan.Tokens))))
	opt.Legend.Show = charts.Ptr(false)
	opt.CategoryAxis.Labels, opt.CategoryAxis.LabelFontStyle = labels, font()
	opt.ValueAxis = []charts.ValueAxisOption{{Min: charts.Ptr(0.0), LabelFontStyle: font()}}
	opt.SeriesList[0].Label.Show = charts.Ptr(true)
	opt.SeriesList[0].Label.FontStyle = font()
	opt.ValueFormatter = number
	return p.BarChart(opt)
}

func (r Record) shorts() []string {
	var names []string
	for _, p := range r.Peers {
		names = append(names, p.Short+margin)
	}
	return names
}

func title(text string) charts.TitleOption {
	style := font()
	style.FontSize += 2
	return charts.TitleOption{Text: text, FontStyle: style}
}

func font() charts.FontStyle { return charts.FontStyle{FontSize: fontSize} }
