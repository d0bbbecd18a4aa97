export type { Change } from './change.ts';
export type { Document } from './document.ts';
export { documentChanges } from './documentChanges.ts';
export { typeChanges } from './typeChanges.ts';
export { review, type Announcement, type Review } from './review.ts';
