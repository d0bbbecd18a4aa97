import { Random } from '@petstore/testing/random';

/** What happens in a history, in milliseconds from its begin. Each step has a seed of its own: without another, it is the same. */
export type Step = { readonly at: number; readonly seed: number } & (
  | { readonly kind: 'order' | 'note'; readonly text: string; readonly ms: number; readonly token: string }
  | { readonly kind: 'publish'; readonly channel: string; readonly event: string; readonly burst: number }
  | { readonly kind: 'subscribe'; readonly channel: string }
  | { readonly kind: 'answer'; readonly key: string; readonly token: string }
  /** Begins many runs at once. */
  | { readonly kind: 'answers'; readonly count: number; readonly token: string }
  | { readonly kind: 'flood'; readonly calls: number }
  | { readonly kind: 'revoke'; readonly token: string }
  /** `fault` chooses one of those that the service has. */
  | { readonly kind: 'fault'; readonly fault: number; readonly forMs: number }
);

export const storageNames = ['memory', 'folder', 'redis'] as const;

export interface Plan {
  readonly seed: number;
  readonly storage: (typeof storageNames)[number];
  readonly processes: number;
  readonly steps: readonly Step[];
}

/** For how long steps begin, in milliseconds. */
export const lengthMs = 2500;

/** Plans a history: at least 20 calls and 2 faults. */
export function planHistory(seed: number, storages: readonly Plan['storage'][] = storageNames): Plan {
  const random = new Random(seed);
  const storage = random.pick(storages);
  const steps: Step[] = [];
  const add = (count: number, create: (at: number) => object) => {
    for (let at = 0; at < count; at += 1)
      steps.push({ at: random.below(lengthMs), seed: random.below(2 ** 31), ...create(at) } as Step);
  };
  const token = () => random.pick(['ada', 'bob', 'eve'] as const);
  const channel = () => random.pick(['a', 'b'] as const);
  const ms = () => random.pick([0, 0, 0, 10, 200, 3000, 5000] as const);
  add(3, (at) => ({ kind: 'order', text: `order-${at}`, ms: ms(), token: token() }));
  add(random.from(3, 4), (at) => ({ kind: 'note', text: `note-${at}`, ms: ms(), token: token() }));
  add(random.from(11, 13), (at) => ({
    kind: 'publish',
    channel: channel(),
    event: `event-${at}`,
    burst: random.chance(0.02) ? 8 : 1,
  }));
  add(random.from(1, 3), () => ({ kind: 'subscribe', channel: channel() }));
  add(random.from(0, 2), () => ({ kind: 'answer', key: random.pick(['x', 'y'] as const), token: token() }));
  if (random.chance(0.02)) add(1, () => ({ kind: 'flood', calls: 100 }));
  if (random.chance(0.02)) add(1, () => ({ kind: 'answers', count: 20, token: 'max' }));
  if (random.chance(0.1)) add(1, () => ({ kind: 'revoke', token: 'eve' }));
  add(random.from(2, 3), () => ({
    kind: 'fault',
    fault: random.next(),
    forMs: random.pick([0, 50, 300, 1000, 3000, 6000] as const),
  }));
  return {
    seed,
    storage,
    processes: storage === 'memory' ? 1 : random.from(1, 3),
    steps: steps.toSorted((one, other) => one.at - other.at),
  };
}
