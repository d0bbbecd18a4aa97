import { describe, expect, it } from 'vitest';
import { RecentMap } from './recentMap.ts';

describe('RecentMap', () => {
  it('RecentMap keeps a key in use during a flood of other keys', () => {
    const map = new RecentMap<string>(10);
    map.set('used', 'here');
    for (let at = 0; at < 1000; at += 1) {
      map.set(`key ${at}`, '');
      expect(map.get('used')).toBe('here');
    }
  });

  it('RecentMap returns the latest value of a key', () => {
    const map = new RecentMap<number>(4);
    map.set('a', 1);
    for (const other of ['b', 'c', 'd']) map.set(other, 0);
    map.set('a', 2);
    expect(map.get('a')).toBe(2);
  });

  it('RecentMap drops the older half when the younger one is full, and not earlier', () => {
    const map = new RecentMap<number>(4);
    for (const key of ['a', 'b', 'c', 'd']) map.set(key, 0);
    expect([map.size, map.get('zz')]).toEqual([4, undefined]);
    map.set('d', 1);
    expect(map.size).toBe(4);
    map.set('e', 0);
    expect(map.size).toBe(3);
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => map.get(key) !== undefined)).toEqual(['c', 'd', 'e']);
  });
});
