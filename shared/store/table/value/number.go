package value

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// A number has up to maxDigits significant digits, the first of which represents a
// power of ten from minPower to maxPower.
const (
	maxDigits = 38
	maxPower  = 125
	minPower  = -130
)

// ErrNumber says that a string is not a number or that the number is out of range.
var ErrNumber = errors.New("not a number of at most 38 digits between 1E-130 and 1E126")

// Number is a decimal number: a coefficient without trailing zeros times a power of
// ten. The zero value is 0.
type Number struct {
	coefficient big.Int
	exponent    int
}

// ParseNumber parses a number.
func ParseNumber(s string) (Number, error) {
	mantissa, power, err := cutPower(s)
	if err != nil {
		return Number{}, err
	}
	unsigned, negative := strings.CutPrefix(mantissa, "-")
	if !negative {
		unsigned = strings.TrimPrefix(unsigned, "+")
	}
	whole, fraction, _ := strings.Cut(unsigned, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > maxText {
		return Number{}, ErrNumber
	}
	n := Number{exponent: power - len(fraction)}
	n.coefficient.SetString(digits, 10)
	if negative {
		n.coefficient.Neg(&n.coefficient)
	}
	return n.normalised()
}

// maxText is the maximum number of digits that are parsed, zeros included.
const maxText = 1000

// cutPower splits off the exponent of a number.
func cutPower(s string) (mantissa string, power int, err error) {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return s, 0, nil
	}
	if power, err = strconv.Atoi(s[at+1:]); err != nil || power > maxText || power < -maxText {
		return "", 0, ErrNumber
	}
	return s[:at], power, nil
}

// normalised drops trailing zeros; it returns ErrNumber if the number is out of
// range.
func (n Number) normalised() (Number, error) {
	if n.coefficient.Sign() == 0 {
		return Number{}, nil
	}
	digits := n.coefficient.String()
	kept := strings.TrimRight(digits, "0")
	n.coefficient.SetString(kept, 10)
	n.exponent += len(digits) - len(kept)
	count := len(n.digits())
	power := count + n.exponent - 1
	if count > maxDigits || power > maxPower || power < minPower {
		return Number{}, ErrNumber
	}
	return n, nil
}

func (n *Number) digits() string { return strings.TrimPrefix(n.coefficient.String(), "-") }

// Plus returns the sum of n and m; ErrNumber if it is out of range.
func (n Number) Plus(m Number) (Number, error) {
	a, b, exponent := aligned(&n, &m)
	var sum Number
	sum.coefficient.Add(a, b)
	sum.exponent = exponent
	return sum.normalised()
}

// Compare returns a negative number, 0 or a positive number if n is less than,
// equal to or greater than m.
func (n Number) Compare(m Number) int {
	a, b, _ := aligned(&n, &m)
	return a.Cmp(b)
}

// aligned scales two numbers to the same power of ten.
func aligned(n, m *Number) (a, b *big.Int, exponent int) {
	exponent = min(n.exponent, m.exponent)
	return scaled(n, exponent), scaled(m, exponent), exponent
}

func scaled(n *Number, exponent int) *big.Int {
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.exponent-exponent)), nil)
	return factor.Mul(factor, &n.coefficient)
}

// String formats the number without an exponent, as DynamoDB does.
func (n Number) String() string {
	digits, sign := n.digits(), ""
	if n.coefficient.Sign() < 0 {
		sign = "-"
	}
	if n.exponent >= 0 {
		return sign + digits + strings.Repeat("0", n.exponent)
	}
	if missing := -n.exponent - len(digits) + 1; missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) + n.exponent
	return sign + digits[:point] + "." + digits[point:]
}

// Size returns the number's size in an item: one byte, one for each two digits
// counted from the decimal point, and one for a minus sign.
func (n Number) Size() int {
	if n.coefficient.Sign() == 0 {
		return 1
	}
	first := len(n.digits()) + n.exponent - 1 // the power of the first digit
	size := 2 + half(first) - half(n.exponent)
	if n.coefficient.Sign() < 0 {
		size++
	}
	return size
}

// half rounds down, for negative numbers too.
func half(n int) int { return n >> 1 }
