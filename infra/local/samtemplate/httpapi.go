package samtemplate

import "cmp"

const (
	defaultIdentitySource = "$request.header.Authorization"
	defaultStage          = "$default"
)

type httpAPIProperties struct {
	Name      string          `yaml:"Name"`
	StageName string          `yaml:"StageName"`
	CORS      *corsProperties `yaml:"CorsConfiguration"`
	Auth      struct {
		Default     string                          `yaml:"DefaultAuthorizer"`
		Authorizers map[string]authorizerProperties `yaml:"Authorizers"`
	} `yaml:"Auth"`

	DefaultRouteSettings routeSettings `yaml:"DefaultRouteSettings"`

	AccessLogSettings any `yaml:"AccessLogSettings"`
	Description       any `yaml:"Description"`
	Tags              any `yaml:"Tags"`
}

type authorizerProperties struct {
	JWT *struct {
		Issuer   string   `yaml:"issuer"`
		Audience []string `yaml:"audience"`
	} `yaml:"JwtConfiguration"`
	IdentitySource string `yaml:"IdentitySource"`
}

func buildHTTPAPI(r *resolver, id string, entry resource) (HTTPAPI, error) {
	api := HTTPAPI{LogicalID: id, Name: id, Stage: defaultStage, JWT: map[string]JWTAuthorizer{}}
	var p httpAPIProperties
	if err := r.properties(id, entry, "HttpApi", &p); err != nil {
		return api, err
	}
	if p.Name != "" {
		api.Name = p.Name
	}
	if p.StageName != "" {
		api.Stage = p.StageName
	}
	api.CORS, api.DefaultAuthorizer, api.Throttle = p.CORS.build(), p.Auth.Default, p.DefaultRouteSettings.throttle()
	for name, a := range p.Auth.Authorizers {
		if a.JWT == nil {
			return api, at(entry.node, "authorizer %s has no JwtConfiguration: only JWT authorizers are supported for an HTTP API", name)
		}
		api.JWT[name] = JWTAuthorizer{
			Issuer: a.JWT.Issuer, Audience: a.JWT.Audience, IdentitySource: cmp.Or(a.IdentitySource, defaultIdentitySource),
		}
	}
	return api, nil
}

type corsProperties struct {
	Origins []string `yaml:"AllowOrigins"`
	Methods []string `yaml:"AllowMethods"`
	Headers []string `yaml:"AllowHeaders"`
	Expose  []string `yaml:"ExposeHeaders"`
	MaxAge  int      `yaml:"MaxAge"`
}

func (p *corsProperties) build() *CORS {
	if p == nil {
		return nil
	}
	return &CORS{
		AllowOrigins: p.Origins, AllowMethods: p.Methods, AllowHeaders: p.Headers,
		ExposeHeaders: p.Expose, MaxAge: p.MaxAge,
	}
}
