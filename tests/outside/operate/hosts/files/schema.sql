create table guests;
