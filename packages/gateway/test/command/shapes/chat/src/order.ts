export enum Order {
  Newest = 'newest',
  Oldest = 'oldest',
}
