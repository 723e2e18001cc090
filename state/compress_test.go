package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// writeCompressed saves content as the only part.
func writeCompressed(t *testing.T, s *Series, content []byte) {
	t.Helper()
	v, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	err = v.WriteCompressed("part", 3, func(w io.Writer) error {
		for len(content) > 0 {
			n := min(len(content), 10_000)
			if _, err := w.Write(content[:n]); err != nil {
				return err
			}
			content = content[n:]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Commit(1); err != nil {
		t.Fatal(err)
	}
}

func TestACompressedPartReadsAsItWasWritten(t *testing.T) {
	regular := bytes.Repeat([]byte("the same again, "), 100_000)
	uneven := make([]byte, 3*chunkBytes) // no two pieces are alike, so it cannot become smaller
	for i, x := 0, uint64(1); i < len(uneven); i++ {
		x = x*6364136223846793005 + 1442695040888963407
		uneven[i] = byte(x >> 56)
	}
	for _, tc := range []struct {
		name    string
		content []byte
		most    int64 // bytes stored
	}{
		{"nothing", nil, 100},
		{"a little", []byte("x"), 100},
		{"what repeats itself takes a tenth", regular, int64(len(regular)) / 10},
		{"what does not takes several chunks", uneven, int64(len(uneven)) + 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := openHere(t, t.TempDir())
			defer st.Close()
			s := st.Series("save")
			writeCompressed(t, s, tc.content)
			var got []byte
			err := s.Read("part", func(version int, r io.Reader) (err error) {
				if version != 3 {
					t.Errorf("got version %d, want 3", version)
				}
				got, err = io.ReadAll(r)
				return err
			})
			if err != nil || !bytes.Equal(got, tc.content) {
				t.Errorf("got %d bytes, %v, want the %d written", len(got), err, len(tc.content))
			}
			h, err := s.Head()
			if err != nil || h.Parts["part"].Bytes > tc.most {
				t.Errorf("stored %d bytes, %v, want %d at most", h.Parts["part"].Bytes, err, tc.most)
			}
			if _, _, err := s.Whole("part"); !errors.Is(err, ErrVersion) {
				t.Errorf("read whole: got %v, want ErrVersion", err)
			}
		})
	}
}

func TestADamagedCompressedPartIsNotRead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, s *Series)
		want   error
	}{
		{"another byte in a chunk", func(t *testing.T, s *Series) {
			t.Helper()
			h, err := s.Head()
			if err != nil {
				t.Fatal(err)
			}
			key := s.chunkKey(h.Parts["part"].Generation, "part", 0)
			chunk, err := s.store.get(key)
			if err != nil {
				t.Fatal(err)
			}
			chunk[len(chunk)/2] ^= 1
			put(t, s.store, key, chunk)
		}, ErrCorrupt},
		{"a compression this build does not know", func(t *testing.T, s *Series) {
			t.Helper()
			h, err := s.Head()
			if err != nil {
				t.Fatal(err)
			}
			p := h.Parts["part"]
			p.Compression = "lz77"
			h.Parts["part"] = p
			raw, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			put(t, s.store, s.headKey(), raw)
		}, ErrVersion},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := openHere(t, t.TempDir())
			defer st.Close()
			s := st.Series("save")
			writeCompressed(t, s, bytes.Repeat([]byte("content, "), 1000))
			tc.damage(t, s)
			err := s.Read("part", func(int, io.Reader) error { t.Error("it was read"); return nil })
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}
