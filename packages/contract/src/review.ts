import type { Change } from './change.ts';

/** A breaking change that was decided on. */
export interface Announcement {
  /** The change's sentence, word by word. */
  readonly change: string;
  /** Why, and what clients do about it: it goes into the notes of the release. */
  readonly why: string;
}

export interface Review {
  readonly changes: readonly (Change & { readonly why: string | undefined })[];
  /** Breaking changes that nobody announced. */
  readonly unannounced: readonly Change[];
  /** Announcements of what has not changed, or does not break. */
  readonly idle: readonly Announcement[];
}

/** Holds changes to what was announced of them. */
export function review(changes: readonly Change[], announced: readonly Announcement[]): Review {
  const reasons = new Map(announced.map(({ change, why }) => [change, why]));
  const breaking = changes.filter(({ isBreaking }) => isBreaking);
  const sentences = new Set(breaking.map(({ sentence }) => sentence));
  return {
    changes: changes.map((change) => ({ ...change, why: reasons.get(change.sentence) })),
    unannounced: breaking.filter(({ sentence }) => !reasons.has(sentence)),
    idle: announced.filter(({ change }) => !sentences.has(change)),
  };
}
