package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// patience is how long a host may stand still while its files are fetched.
const patience = 30 * time.Second

// Fetch copies the logs of the run from the host into a folder, those left out that are there already. It
// takes each in pieces, the next after the last has come, goes on where an earlier call has stopped, and
// checks what has come by its digest.
func (h *Host) Fetch(ctx context.Context, folder string) error {
	a, err := h.askAgain(ctx, order{Do: doFiles})
	if err != nil {
		return fmt.Errorf("listing the logs on host %s: %w", h.Name, err)
	}
	for _, f := range a.Files {
		if !isLog(f.Name) {
			return fmt.Errorf("host %s calls a log %.40q, which is no name of one", h.Name, f.Name)
		}
		if err := h.fetch(ctx, folder, f); err != nil {
			return fmt.Errorf("fetching %s from host %s: %w", f.Name, h.Name, err)
		}
	}
	return nil
}

// fetch copies one file.
func (h *Host) fetch(ctx context.Context, folder string, f File) error {
	path := filepath.Join(folder, f.Name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	begun := path + ".part"
	file, err := os.OpenFile(begun, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	for at := info.Size(); at < f.Bytes; {
		a, err := h.askAgain(ctx, order{Do: doPiece, File: f.Name, Offset: at, Length: h.pieceLen()})
		switch {
		case err != nil:
			return err
		case len(a.Piece) == 0:
			return fmt.Errorf("it ends after %d of %d bytes", at, f.Bytes)
		}
		if _, err := file.WriteAt(a.Piece, at); err != nil {
			return err
		}
		at += int64(len(a.Piece))
	}
	a, err := h.askAgain(ctx, order{Do: doDigest, File: f.Name})
	if err != nil {
		return err
	}
	switch got, err := digest(folder, filepath.Base(begun)); {
	case err != nil:
		return err
	case len(a.Files) != 1 || got.Bytes != a.Files[0].Bytes || got.SHA256 != a.Files[0].SHA256:
		return errors.Join(errors.New("its digest is another: it was changed on its way, or since"),
			os.Remove(begun))
	}
	return os.Rename(begun, path)
}

// pieceLen returns how much of a file fits into a message of the control server.
func (h *Host) pieceLen() int {
	return int(min(longestPiece, max(1024, h.conn.MaxPayload()-4096)))
}

// askAgain is ask, again and again while the host stands still, for up to patience.
func (h *Host) askAgain(ctx context.Context, o order) (a reply, err error) {
	for late := time.Now().Add(patience); ; {
		a, err = h.ask(ctx, answerLimit, o)
		if !errors.Is(err, ErrLate) || time.Now().After(late) {
			return a, err
		}
	}
}
