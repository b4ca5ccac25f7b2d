package adk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	adk "google.golang.org/adk/v2/artifact"
	"google.golang.org/genai"

	rethread "github.com/rethread/rethread/clients/go"
)

// ArtifactService implements ADK's artifact.Service. An artifact belongs to an
// existing session or, if its name begins with "user:", to that session's user.
// Reading a missing artifact, version or session fails with fs.ErrNotExist, as
// with ADK's own services. Names have 1 to 128 characters, without "/", "?" and
// control characters. It is safe for concurrent use.
type ArtifactService struct{ users *users }

var _ adk.Service = (*ArtifactService)(nil)

// Save implements ADK's artifact.Service. It stores text, bytes, or file data,
// which is stored as a reference; at most 10 MB, or it fails with ErrTooLarge.
// Versions are assigned by the server, from 1, so a request that sets one fails
// with errors.ErrUnsupported. Save is not repeated when the outcome is unknown,
// because that could create a second version.
func (s *ArtifactService) Save(ctx context.Context, req *adk.SaveRequest) (*adk.SaveResponse, error) {
	if err := checkSave(req); err != nil {
		return nil, err
	}
	upload, err := uploadOf(req.Part)
	if err != nil {
		return nil, fmt.Errorf("save artifact %q: %w", req.FileName, err)
	}
	v, err := s.users.as(req.UserID).Artifacts.Put(ctx, req.SessionID, req.FileName, upload)
	if errors.Is(err, ErrNotFound) {
		err = missing(err)
	}
	if err != nil {
		return nil, fmt.Errorf("save artifact %q: %w", req.FileName, err)
	}
	return &adk.SaveResponse{Version: v.Version + firstVersion}, nil
}

// checkSave validates a request as ADK does, but accepts file data.
func checkSave(req *adk.SaveRequest) error {
	checked := *req
	if req.Part != nil && req.Part.FileData != nil {
		checked.Part = genai.NewPartFromText(req.Part.FileData.FileURI)
	}
	if err := checked.Validate(); err != nil {
		return invalid(err)
	}
	if req.Version != 0 {
		return fmt.Errorf("save artifact %q as version %d: versions are assigned by the server: %w",
			req.FileName, req.Version, errors.ErrUnsupported)
	}
	if isNoID(req.SessionID) {
		return fmt.Errorf("%w: no session can have the id %q", ErrInvalid, req.SessionID)
	}
	if strings.Contains(req.FileName, "?") { // which gateways cut paths at
		return fmt.Errorf("%w: the file name %q must not contain %q", ErrInvalid, req.FileName, '?')
	}
	return checkName(req.FileName)
}

// Load implements ADK's artifact.Service. A version of 0 is the newest. A
// reference to another artifact loads the artifact it refers to.
func (s *ArtifactService) Load(ctx context.Context, req *adk.LoadRequest) (*adk.LoadResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, invalid(err)
	}
	a, err := s.read(ctx, ref{req.UserID, req.SessionID, req.FileName}, req.Version)
	if err != nil {
		return nil, fmt.Errorf("load artifact %q: %w", req.FileName, missing(err))
	}
	return &adk.LoadResponse{Part: partOf(a)}, nil
}

// ref identifies an artifact.
type ref struct{ userID, sessionID, name string }

// read reads a version in ADK's numbers, in which 0 is the newest.
func (s *ArtifactService) read(ctx context.Context, r ref, version int64) (rethread.Artifact, error) {
	artifacts := s.users.as(r.userID).Artifacts
	switch {
	case checkName(r.name) != nil, isNoID(r.sessionID), version < 0:
		return rethread.Artifact{}, fmt.Errorf("artifact %q: %w", r.name, ErrNotFound)
	case version == 0:
		return artifacts.Get(ctx, r.sessionID, r.name)
	}
	return artifacts.GetVersion(ctx, r.sessionID, r.name, version-firstVersion)
}

// Delete implements ADK's artifact.Service. Deleting a missing artifact is not an
// error. A single version cannot be deleted (errors.ErrUnsupported), because
// rewinds, forks and references may need it.
func (s *ArtifactService) Delete(ctx context.Context, req *adk.DeleteRequest) error {
	if err := req.Validate(); err != nil {
		return invalid(err)
	}
	if req.Version != 0 {
		return fmt.Errorf("delete version %d of artifact %q: versions never change: %w",
			req.Version, req.FileName, errors.ErrUnsupported)
	}
	err := s.remove(ctx, req)
	if err != nil && !isAbsent(err) {
		return fmt.Errorf("delete artifact %q: %w", req.FileName, err)
	}
	return nil
}

func (s *ArtifactService) remove(ctx context.Context, req *adk.DeleteRequest) error {
	if checkName(req.FileName) != nil || isNoID(req.SessionID) {
		return fmt.Errorf("artifact %q: %w", req.FileName, ErrNotFound)
	}
	return s.users.as(req.UserID).Artifacts.Delete(ctx, req.SessionID, req.FileName)
}

// List implements ADK's artifact.Service. It returns the sorted names of the
// artifacts of the session and of its user, none for an unknown session.
func (s *ArtifactService) List(ctx context.Context, req *adk.ListRequest) (*adk.ListResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, invalid(err)
	}
	names := []string{}
	if isNoID(req.SessionID) {
		return &adk.ListResponse{FileNames: names}, nil
	}
	listed := s.users.as(req.UserID).Artifacts.List(req.SessionID, rethread.ListQuery{Limit: maxPage})
	for v, err := range listed.All(ctx) {
		if isAbsent(err) { // the session does not exist
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list artifacts of session %s: %w", req.SessionID, err)
		}
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return &adk.ListResponse{FileNames: names}, nil
}

// Versions implements ADK's artifact.Service. It returns the versions, newest
// first. A deleted artifact has none; after it is saved again, the versions from
// before the deletion are listed too.
func (s *ArtifactService) Versions(ctx context.Context, req *adk.VersionsRequest) (*adk.VersionsResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, invalid(err)
	}
	r := ref{req.UserID, req.SessionID, req.FileName}
	_, all, err := s.versions(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("list versions of artifact %q: %w", req.FileName, missing(err))
	}
	out := &adk.VersionsResponse{}
	for _, v := range slices.Backward(all) {
		out.Versions = append(out.Versions, v.Version+firstVersion)
	}
	return out, nil
}

// versions returns an artifact's versions, oldest first, and the number of the
// current one.
func (s *ArtifactService) versions(ctx context.Context, r ref) (newest int64, all []rethread.ArtifactVersion, err error) {
	a, err := s.read(ctx, r, 0)
	if err != nil {
		return 0, nil, err
	}
	all, err = s.users.as(r.userID).Artifacts.Versions(r.sessionID, r.name, rethread.ListQuery{Limit: maxPage}).Collect(ctx)
	return a.Version, all, err
}

// GetArtifactVersion implements ADK's artifact.Service. Saving the canonical URI
// as file data creates a reference to the version.
func (s *ArtifactService) GetArtifactVersion(
	ctx context.Context, req *adk.GetArtifactVersionRequest,
) (*adk.GetArtifactVersionResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, invalid(err)
	}
	r := ref{req.UserID, req.SessionID, req.FileName}
	wanted, all, err := s.versions(ctx, r)
	if req.Version != 0 {
		wanted = req.Version - firstVersion
	}
	at := slices.IndexFunc(all, func(v rethread.ArtifactVersion) bool { return v.Version == wanted })
	if err == nil && at < 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("get version %d of artifact %q: %w", req.Version, req.FileName, missing(err))
	}
	return &adk.GetArtifactVersionResponse{ArtifactVersion: describe(all[at], req.SessionID)}, nil
}

func describe(v rethread.ArtifactVersion, sessionID string) *adk.ArtifactVersion {
	m := parseMedia(v.MIMEType)
	return &adk.ArtifactVersion{
		Version: v.Version + firstVersion, CanonicalURI: uriOf(v, sessionID), MimeType: m.mimeType(),
		CreateTime: v.CreatedTime.Time(), CustomMetadata: m.metadata,
	}
}

func invalid(err error) error {
	return fmt.Errorf("request validation failed: %w", err)
}

// missing adds fs.ErrNotExist to the error of what does not exist.
func missing(err error) error {
	if isAbsent(err) {
		return errors.Join(fs.ErrNotExist, err)
	}
	return err
}
