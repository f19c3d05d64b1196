#!/bin/sh
echo hot
