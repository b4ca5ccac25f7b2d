// Package identity is an issuer of tokens for development: anyone can get a token
// for any user. It is not part of the cloud's template.
package identity

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

const (
	keyBits   = 2048
	keyFile   = "identity.pem"
	pemType   = "RSA PRIVATE KEY"
	tokenLife = 24 * time.Hour
)

var errNoKey = errors.New("the issuer has no such signing key")

// Issuer signs tokens.
type Issuer struct {
	url      string
	audience string
	key      *rsa.PrivateKey
	keyID    string
	now      func() time.Time
}

// New returns an issuer with the given url. Its key is stored in dataDir, so that
// tokens stay valid across restarts; an empty dataDir means a new key each time.
func New(url, audience, dataDir string, now func() time.Time) (*Issuer, error) {
	key, err := loadKey(dataDir)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	public := jose.JSONWebKey{Key: key.Public()}
	thumbprint, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("identity: name the key: %w", err)
	}
	return &Issuer{url: url, audience: audience, key: key, keyID: hex.EncodeToString(thumbprint[:8]), now: now}, nil
}

// Token returns a token for the user that is valid for life; 0 means a day. A
// negative life gives an expired token.
func (i *Issuer) Token(userID string, life time.Duration) (string, error) {
	return i.ClaimsToken(userID, "", nil, life)
}

// ClaimsToken returns a token like Token, with the space-separated scope and other
// claims, which do not replace those that every token has; "" omits the scope.
func (i *Issuer) ClaimsToken(userID, scope string, others map[string]any, life time.Duration) (string, error) {
	if life == 0 {
		life = tokenLife
	}
	now := i.now()
	issued := now
	if life < 0 {
		issued = now.Add(life)
	}
	claims := jwt.MapClaims{}
	maps.Copy(claims, others)
	maps.Copy(claims, jwt.MapClaims{
		"iss": i.url, "aud": i.audience, "sub": userID, "jti": uuid.NewString(),
		"iat": issued.Unix(), "nbf": issued.Unix(), "exp": now.Add(life).Unix(),
	})
	if scope != "" {
		claims["scope"] = scope
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = i.keyID
	signed, err := token.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// Key returns the issuer's public key, for a gateway.
func (i *Issuer) Key(issuer, keyID string) (crypto.PublicKey, error) {
	if issuer != i.url || keyID != i.keyID {
		return nil, errNoKey
	}
	return i.key.Public(), nil
}

// JWKS is the issuer's public key as a JSON Web Key Set.
func (i *Issuer) JWKS() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: i.key.Public(), KeyID: i.keyID, Algorithm: string(jose.RS256), Use: "sig"},
	}}
}

func loadKey(dataDir string) (*rsa.PrivateKey, error) {
	if dataDir == "" {
		return rsa.GenerateKey(rand.Reader, keyBits)
	}
	path := filepath.Join(dataDir, keyFile)
	text, err := os.ReadFile(path) //nolint:gosec // the folder is the caller's choice
	if errors.Is(err, os.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s does not contain a key: remove the file and restart", path)
	}
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s does not contain a key: remove the file and restart: %w", path, err)
	}
	return key, nil
}

func makeKey(path string) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("store key: %w", err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, fmt.Errorf("store key: %w", err)
	}
	return key, nil
}
