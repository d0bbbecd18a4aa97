export enum Panel {
  Left = 'left',
  Right = 'right',
}
