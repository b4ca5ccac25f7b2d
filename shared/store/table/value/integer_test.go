package value_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/rethread/rethread/infra/test/property"
	"github.com/rethread/rethread/shared/store/table/value"
)

func number(s string) *types.AttributeValueMemberN { return &types.AttributeValueMemberN{Value: s} }

// text returns a number's digits.
func text(v types.AttributeValue) string {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return ""
	}
	return n.Value
}

// An integer and the same number with a fraction take different ways through the
// package: the rules must not differ between them.
func TestIntegers(t *testing.T) {
	t.Parallel()
	integers := rapid.OneOf(
		rapid.SampledFrom([]int64{
			0, 1, -1, 9, 10, -10, 99, 100, 999_999_999_999_999_999, 1_000_000_000_000_000_000, -1_000_000_000_000_000_000,
		}),
		rapid.Int64(), rapid.Int64Range(-1100, 1100),
		rapid.Map(rapid.IntRange(0, 18), func(zeros int) int64 {
			n, err := strconv.ParseInt("1"+strings.Repeat("0", zeros), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}),
	)
	property.Check(t, func(rt *rapid.T) {
		n, m := integers.Draw(rt, "n"), integers.Draw(rt, "m")
		a, b := strconv.FormatInt(n, 10), strconv.FormatInt(m, 10)
		aSlow, bSlow := number(a+".0"), number(b+".0")
		normal, err := value.NormalValue(number(a))
		slow, alsoErr := value.NormalValue(aSlow)
		if err != nil || alsoErr != nil || text(normal) != a || text(slow) != a {
			rt.Fatalf("%s is normalised to %v, %v, and %s.0 to %v, %v", a, normal, err, a, slow, alsoErr)
		}
		if got, want := value.SizeOf(number(a)), value.SizeOf(aSlow); got != want {
			rt.Fatalf("%s has %d bytes, and %s.0 has %d", a, got, a, want)
		}
		got, ok := value.Compare(number(a), number(b))
		want, alsoOK := value.Compare(aSlow, bSlow)
		if got != want || !ok || !alsoOK {
			rt.Fatalf("%s and %s are ordered as %d, %v, with fractions as %d, %v", a, b, got, ok, want, alsoOK)
		}
	})
}

func TestUnusualIntegers(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"-0": "0", "007": "7", "+7": "7", "00": "0", "-010": "-10", "1e3": "1000", "-": "", "": "", "1a": "", "١": "",
	} {
		normal, err := value.NormalValue(number(written))
		if want == "" {
			if err == nil {
				t.Errorf("%q is normalised to %v", written, normal)
			}
			continue
		}
		if err != nil || text(normal) != want {
			t.Errorf("%q is normalised to %v, %v, want %s", written, normal, err, want)
		}
	}
}
