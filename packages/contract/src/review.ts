import type { Change } from './change.ts';

/** A deliberate breaking change. */
export interface Announcement {
  /** The exact sentence of the change. */
  readonly change: string;
  /** The reason and what clients have to do. It goes into the release notes. */
  readonly why: string;
}

export interface Review {
  readonly changes: readonly (Change & { readonly why: string | undefined })[];
  /** Breaking changes without an announcement. */
  readonly unannounced: readonly Change[];
  /** Announcements without a breaking change. */
  readonly unused: readonly Announcement[];
}

/** Compares changes with their announcements. */
export function review(changes: readonly Change[], announced: readonly Announcement[]): Review {
  const reasons = new Map(announced.map(({ change, why }) => [change, why]));
  const breaking = changes.filter(({ isBreaking }) => isBreaking);
  const sentences = new Set(breaking.map(({ sentence }) => sentence));
  return {
    changes: changes.map((change) => ({ ...change, why: reasons.get(change.sentence) })),
    unannounced: breaking.filter(({ sentence }) => !reasons.has(sentence)),
    unused: announced.filter(({ change }) => !sentences.has(change)),
  };
}
