package router

import (
	"cmp"
	"crypto/md5" //nolint:gosec // part of the strategy, not a secret
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// virtualNodes is the number of places of each address on the ring.
const virtualNodes = 100

// place is where an address stands on the ring.
type place struct {
	hash    uint32
	address string
}

// ring is sorted by hash, each hash once.
type ring []place

// hash32 is the first four bytes of the MD5, little-endian.
func hash32(key string) uint32 {
	sum := md5.Sum([]byte(key)) //nolint:gosec // see the import
	return binary.LittleEndian.Uint32(sum[:])
}

func newRing(addresses []string) ring {
	at := make(map[uint32]string, virtualNodes*len(addresses))
	for _, a := range addresses {
		for i := range virtualNodes {
			at[hash32(fmt.Sprintf("SHARD-%s-NODE-%d", a, i))] = a
		}
	}
	r := make(ring, 0, len(at))
	for _, h := range slices.Sorted(maps.Keys(at)) {
		r = append(r, place{h, at[h]})
	}
	return r
}

// hashed gives the first address at or after the job's place on the ring, so
// that a job stays where it is while addresses come and go. The places are
// those of the original (reference: scheduler.md 6).
func (r *Router) hashed(job int, addresses []string) string {
	key := strings.Join(addresses, ",")
	r.mu.Lock()
	defer r.mu.Unlock()
	places, ok := r.rings[key]
	if !ok {
		forgetOne(r.rings, maxRings)
		places = newRing(addresses)
		r.rings[key] = places
	}
	i, _ := slices.BinarySearchFunc(places, hash32(strconv.Itoa(job)), func(p place, h uint32) int {
		return cmp.Compare(p.hash, h)
	})
	return places[i%len(places)].address
}
