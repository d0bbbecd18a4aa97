import {
  callTimeoutMs,
  type Effect,
  keptEvents,
  rateLimit,
  runLength,
  runLimits,
} from '../service/service.ts';
import type { StreamEnd } from '../client/streams.ts';
import type { History, Journey, Order, RunReader, SentCall } from '../client/history.ts';

/** What a history is judged by, besides what its clients have seen. */
export interface Evidence {
  readonly effects: readonly Effect[];
  /** From when until when each fault lasted: a call may take longer by the time that it shares with them. */
  readonly faultTimes: readonly { readonly from: number; readonly to: number }[];
  /** How much longer a call may take than on an idle machine, in milliseconds. */
  readonly machineMs: number;
  /** Whether a fault has removed keys, or events, that were acknowledged. */
  readonly lost: { readonly keys: boolean; readonly events: boolean };
  /** Whether calls may have been cut in the middle. */
  readonly mayBeCut: boolean;
  /** Whether processes were without what they share. */
  readonly wasAway: boolean;
  /** Whether events of an epoch that went on were taken back. */
  readonly wasRewound: boolean;
  /** Events that were published by a fault. */
  readonly published: readonly Published[];
  /** How many processes have counted calls, each for itself while the state was away. */
  readonly counters: number;
  /** How many processes there have been. */
  readonly processes: number;
  /** The tokens that were revoked. */
  readonly revoked: ReadonlySet<string>;
}

/** The event that is published after the last fault. */
export const marker = 'marker';
export const hasMarker = ({ items }: Journey): boolean => items.some(({ event }) => event === marker);

export interface Published {
  readonly channel: string;
  readonly id: string;
}

/** Returns a sentence for each violation of a rule. */
export function violationsOf(history: History, evidence: Evidence): readonly string[] {
  const effects = Map.groupBy(evidence.effects, ({ text }) => text);
  const runsOf = (text: string) => (effects.get(text) ?? []).map(({ run }) => run);
  return [
    ...history.orders.flatMap((order) => ofOrder(order, runsOf(order.text), evidence)),
    ...history.calls.flatMap((call) => ofCall(call, runsOf, evidence)),
    ...history.journeys.flatMap((journey) => [
      ...ofJourney(
        journey,
        evidence.wasRewound ? [] : acknowledged(history, evidence.published, journey.channel),
      ),
      ...ofResyncs(journey, history.calls, evidence),
    ]),
    ...history.readers.flatMap((reader) => ofReader(reader, evidence)),
    ...ofRuns(history, runsOf, evidence),
    // A folder knows by its clock which positions the file had that was replaced.
    ...(evidence.wasRewound && history.faults.includes('jumped clock')
      ? []
      : ofIds(acknowledged(history, evidence.published))),
    ...ofLimit(history.calls, evidence),
  ];
}

/** How long an unfinished call has its key, in milliseconds. Then its process counts as crashed (docs/gateway/idempotency.md). */
const leaseMs = callTimeoutMs + 10_000;

/** Nothing acknowledged is lost, and nothing runs twice. */
function ofOrder(order: Order, runs: readonly string[], evidence: Evidence): readonly string[] {
  const { knownBy, results, text, wasBlocked } = order;
  const { faultTimes, lost, wasAway } = evidence;
  const mayBeCut = evidence.mayBeCut || (wasAway && faultTimes.some(({ from, to }) => to - from > leaseMs));
  if (knownBy === 'revoked')
    return runs.length > 1 && !lost.keys ? [`${text} ran ${runs.length} times.`] : [];
  if (knownBy === undefined) return [`${text} is not known.`];
  const problems: string[] = [];
  // Without the keys, repeats are new calls.
  if (lost.keys) return runs.length === 0 ? [`${text} did not run.`] : [];
  if (runs.length !== 1) problems.push(`${text} ran ${runs.length} times.`);
  for (const [at, { isReplayed, run }] of results.entries())
    if (run !== runs[0] || (at > 0 && !isReplayed))
      problems.push(`${text} ran as ${runs.join()}, and was answered with ${run}, replayed: ${isReplayed}.`);
  if (wasBlocked && !mayBeCut) problems.push(`${text} was blocked, and had not run.`);
  return problems;
}

/** How long a call takes at most besides its deadline, in milliseconds. */
const marginMs = 3000;
const expected = new Set([409, 429, 503, 504]);

/** Every call is answered in time, or its connection ends. */
function ofCall(
  { endedAt, input, key, outcome, procedure, sentAt, token }: SentCall,
  runsOf: (text: string) => readonly string[],
  { faultTimes, machineMs, revoked }: Evidence,
): readonly string[] {
  const problems: string[] = [];
  const name = `${procedure} ${JSON.stringify(input)} ${key ?? ''}`;
  const shared = faultTimes.map(({ from, to }) => Math.min(to, endedAt) - Math.max(from, sentAt));
  const faultMs = shared.reduce((total, ms) => total + Math.max(0, ms), 0);
  if (endedAt - sentAt > callTimeoutMs + marginMs + machineMs + faultMs)
    problems.push(`${name} took ${endedAt - sentAt} ms.`);
  const isExpected = (status: number) => expected.has(status) || (status === 401 && revoked.has(token));
  if (outcome.kind === 'failed' && !isExpected(outcome.status))
    problems.push(`${name} was answered with ${outcome.status}: ${outcome.message}`);
  if (procedure === 'note') {
    const runs = runsOf(String(input['text']));
    if (runs.length > 1) problems.push(`${name} ran ${runs.length} times.`);
    if (outcome.kind === 'done' && runs[0] !== outcome.data['run'])
      problems.push(`${name} was acknowledged as ${String(outcome.data['run'])}, and ran as ${runs.join()}.`);
  }
  return problems;
}

/** The ids of the events that were acknowledged. @param channel default: of all channels */
function acknowledged(
  { calls }: History,
  published: readonly Published[],
  channel?: string,
): readonly string[] {
  const byFaults = published.filter((each) => (channel ?? each.channel) === each.channel).map(({ id }) => id);
  const byCalls = calls.flatMap(({ input, outcome, procedure }) =>
    procedure === 'publish' && (channel ?? input['key']) === input['key'] && outcome.kind === 'done'
      ? [String(outcome.data['id'])]
      : [],
  );
  return [...byCalls, ...byFaults];
}

/** An id names one event forever. */
function ofIds(ids: readonly string[]): readonly string[] {
  return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id} is the id of two events.`);
}

/** Returns the journeys that lack an event after their last item, of the same epoch, which was acknowledged. */
export const lateJourneys = (history: History, published: readonly Published[]): readonly Journey[] =>
  history.journeys.filter(({ channel, deadBy, items }) => {
    const { id } = items.at(-1) ?? {};
    if (deadBy !== undefined || id === undefined) return false;
    return acknowledged(history, published, channel).some((each) =>
      isBetween(each, id, `${epochOf(id)}-Infinity`),
    );
  });

const sequenceOf = (id: string): number => Number(id.slice(id.indexOf('-') + 1));
const epochOf = (id: string): string => id.slice(0, id.indexOf('-'));

/** No event is missing or repeated without a `RESYNC`, and nobody is dead once the faults are over. */
function ofJourney(journey: Journey, ids: readonly string[]): readonly string[] {
  const problems: string[] = [];
  const { channel, deadBy, isLate, items } = journey;
  const name = `the subscriber of ${channel}`;
  if (deadBy !== undefined && !isOwnLimit(deadBy))
    problems.push(`${name} is dead by ${JSON.stringify(deadBy)}.`);
  else if (deadBy === undefined && !hasMarker(journey))
    problems.push(`${name} has received nothing after ${items.at(-1)?.id}.`);
  if (isLate) problems.push(`${name} was not woken for the last event.`);
  const seen = new Set<string>();
  let before: Journey['items'][number] | undefined;
  for (const item of items) {
    if (item.type === 'event') {
      if (seen.has(item.id)) problems.push(`${name} has received ${item.id} twice.`);
      seen.add(item.id);
      if (before?.type === 'event') {
        const isSame = epochOf(before.id) === epochOf(item.id);
        if (!isSame) problems.push(`${name} has received ${item.id} after ${before.id} without a resync.`);
        else if (sequenceOf(item.id) <= sequenceOf(before.id))
          problems.push(`${name} has received ${item.id} after ${before.id}.`);
      }
      // Also after a resync, whose id says where the reader goes on.
      const missing = before ? ids.filter((id) => isBetween(id, before?.id ?? '', item.id)) : [];
      if (missing.length > 0) problems.push(`${name} has missed ${missing.join()} silently.`);
    }
    // After it, what is there may be sent again.
    else seen.clear();
    before = item;
  }
  return problems;
}

/** Whether a stream has ended since its client may not have it. */
const isOwnLimit = (end: StreamEnd): boolean =>
  end.kind === 'failed' && (end.status === 401 || end.status === 429);

/** A `RESYNC` comes only where an event may be missing. One that begins while the log is away may have missed some. */
function ofResyncs(
  { channel, items }: Journey,
  calls: readonly SentCall[],
  { lost, published }: Evidence,
): readonly string[] {
  const byFaults = published.filter((each) => each.channel === channel);
  const sent = calls.filter(({ input, procedure }) => procedure === 'publish' && input['key'] === channel);
  if (lost.events || sent.length + byFaults.length > keptEvents) return [];
  const before = (at: number) => items[at - 1]?.id;
  return items.flatMap(({ type }, at) =>
    type === 'resync' && at > 0
      ? [`the subscriber of ${channel} has received a resync after ${before(at)}, and nothing was lost.`]
      : [],
  );
}

const isBetween = (id: string, from: string, to: string): boolean =>
  epochOf(id) === epochOf(from) &&
  epochOf(id) === epochOf(to) &&
  sequenceOf(id) > sequenceOf(from) &&
  sequenceOf(id) < sequenceOf(to);

/** A run is read in order and to its end. */
function ofReader(
  { end, key, received }: RunReader,
  { lost, mayBeCut, wasAway }: Evidence,
): readonly string[] {
  const name = `the reader of ${key}`;
  const isInOrder = received.every((event, at) => event === at + 1);
  if (!isInOrder) return [`${name} has received ${received.join()}.`];
  if (end === undefined) return [`${name} has no end after ${received.join()}.`];
  if (end.kind === 'ended' && received.length !== runLength)
    return [`${name} has ended after ${received.join()}.`];
  const mayFail = mayBeCut || wasAway || lost.events || isOwnLimit(end);
  return end.kind === 'failed' && !mayFail ? [`${name} has failed: ${JSON.stringify(end)}.`] : [];
}

/** A run has one producer, and a caller no more runs than its limit. */
function ofRuns(
  { readers }: History,
  runsOf: (text: string) => readonly string[],
  { lost, processes }: Evidence,
): readonly string[] {
  const begun = new Map(readers.map(({ key }) => [key, runsOf(`answer ${key}`).length]));
  const twice = Array.from(begun).flatMap(([key, count]) =>
    count > 1 && !lost.events ? [`the run ${key} has begun ${count} times.`] : [],
  );
  // Those of the caller that begins many at once.
  const many = Array.from(begun).filter(([key, count]) => key.includes('-') && count > 0).length;
  const bound = processes * runLimits.maxRunsPerCaller;
  return many > bound ? [...twice, `one caller has begun ${many} runs, more than ${bound}.`] : twice;
}

/** A caller has no more calls than its limit. */
function ofLimit(calls: readonly SentCall[], { counters }: Evidence): readonly string[] {
  const byToken = Map.groupBy(calls, ({ token }) => token);
  return [...byToken].flatMap(([token, own]) => {
    const admitted = own.filter(({ outcome }) => outcome.kind === 'done').map(({ endedAt }) => endedAt);
    const times = admitted.toSorted((one, other) => one - other);
    const elapsed = (times.at(-1) ?? 0) - (times[0] ?? 0);
    const bound =
      counters * rateLimit.calls + Math.ceil((elapsed / rateLimit.windowMs) * rateLimit.calls) + 1;
    return times.length > bound ? [`${token} had ${times.length} calls, more than ${bound}.`] : [];
  });
}
