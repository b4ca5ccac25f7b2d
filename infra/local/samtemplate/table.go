package samtemplate

type tableProperties struct {
	TableName            string `yaml:"TableName"`
	AttributeDefinitions []struct {
		Name string `yaml:"AttributeName"`
		Type string `yaml:"AttributeType"`
	} `yaml:"AttributeDefinitions"`
	KeySchema              []keyElement `yaml:"KeySchema"`
	GlobalSecondaryIndexes []struct {
		Name       string       `yaml:"IndexName"`
		KeySchema  []keyElement `yaml:"KeySchema"`
		Projection struct {
			Type   string   `yaml:"ProjectionType"`
			NonKey []string `yaml:"NonKeyAttributes"`
		} `yaml:"Projection"`
	} `yaml:"GlobalSecondaryIndexes"`
	StreamSpecification struct {
		ViewType string `yaml:"StreamViewType"`
	} `yaml:"StreamSpecification"`
	TimeToLive struct {
		Attribute string `yaml:"AttributeName"`
		Enabled   bool   `yaml:"Enabled"`
	} `yaml:"TimeToLiveSpecification"`
	BillingMode               string `yaml:"BillingMode"`
	PointInTimeRecovery       any    `yaml:"PointInTimeRecoverySpecification"`
	Encryption                any    `yaml:"SSESpecification"`
	DeletionProtectionEnabled any    `yaml:"DeletionProtectionEnabled"`
	Tags                      any    `yaml:"Tags"`
}

type keyElement struct {
	Name string `yaml:"AttributeName"`
	Type string `yaml:"KeyType"`
}

func buildTable(r *resolver, id string, entry resource) (Table, error) {
	table := Table{LogicalID: id, Name: id}
	var p tableProperties
	if err := r.properties(id, entry, "", &p); err != nil {
		return table, err
	}
	if p.BillingMode != "PAY_PER_REQUEST" {
		return table, at(entry.node, "%s: only BillingMode PAY_PER_REQUEST is supported", id)
	}
	if p.TableName != "" {
		table.Name = p.TableName
	}
	for _, a := range p.AttributeDefinitions {
		table.Attributes = append(table.Attributes, Attribute{Name: a.Name, Type: a.Type})
	}
	table.Key = keyElements(p.KeySchema)
	for _, index := range p.GlobalSecondaryIndexes {
		table.Indexes = append(table.Indexes, Index{
			Name: index.Name, Key: keyElements(index.KeySchema),
			Projection: index.Projection.Type, NonKey: index.Projection.NonKey,
		})
	}
	table.StreamView = p.StreamSpecification.ViewType
	if p.TimeToLive.Enabled {
		table.TTLAttribute = p.TimeToLive.Attribute
	}
	return table, nil
}

func keyElements(schema []keyElement) []KeyElement {
	var elements []KeyElement
	for _, e := range schema {
		elements = append(elements, KeyElement(e))
	}
	return elements
}
