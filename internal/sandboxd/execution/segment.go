package execution

import "hash/crc32"

// A segment is a file on the disk with events of one log, a block after the other.
type segment struct {
	disk   *disk
	file   file
	size   int64
	blocks []block
	gone   bool
}

// A block is encoded events of successive numbers.
type block struct {
	first, last   int64
	before, after int64 // bytes of output in all events before it, and with it
	from, size    int64 // where it lies
	sum           uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write puts a block behind the others. It takes its room at once, and is part
// of the segment only when it is added.
func (s *segment) write(b *block, data []byte) error {
	b.from, b.size, b.sum = s.size, int64(len(data)), crc32.Checksum(data, castagnoli)
	_, err := s.file.WriteAt(data, b.from)
	return err
}

func (s *segment) add(b block) {
	s.blocks = append(s.blocks, b)
	s.size += b.size
}

// read reads a block back, and says whether it is what was written. A disk that
// is full below its file system, as an image on another one can be, loses what
// it took.
func (s *segment) read(b block, into []byte) bool {
	n, _ := s.file.ReadAt(into, b.from)
	return n == len(into) && crc32.Checksum(into, castagnoli) == b.sum
}

// close gives the room back.
func (s *segment) close() {
	s.gone = true
	s.disk.close(s.file)
	s.disk.give(s.size)
}

func (s *segment) first() int64 { return s.blocks[0].first }

func (s *segment) last() int64 { return s.blocks[len(s.blocks)-1].last }
